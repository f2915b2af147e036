"""From the answers to the tables of measures: panels of persons, a U-statistic over people, photos by themselves."""
